"""What platforms send and take: signed links, notices of a submission's status, ways back with a code, bonus files."""
