"""The command `pocketmt`: one file a command, each a thin face of the library."""
