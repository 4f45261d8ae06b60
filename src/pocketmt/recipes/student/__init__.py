"""The whole road: teachers, the text that they write, a student, made small, with a shortlist."""
