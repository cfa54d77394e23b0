"""One module for each stage an assessor passes: its step, its page and, beside it, its template.

A module here defines `STAGE`; `stage.stages` finds it by the module's name, which is the stage's name in the database.
"""
