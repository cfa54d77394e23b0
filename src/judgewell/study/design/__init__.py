"""The units, groups and orders that a study asks its assessors to judge."""
