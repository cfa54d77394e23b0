"""What an assessor passes through: stages, their steps and pages, assignment of units, answers."""
