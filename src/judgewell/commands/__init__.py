"""The commands, a module each: its options as the user sees them, and the calls it makes. No logic of its own.

A module imports at its top only what `--help` needs; the stages are imported when the command runs.
"""
