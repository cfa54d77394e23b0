"""`python -m judgewell` is the same as `judgewell`."""

from judgewell.cli import program

program()
