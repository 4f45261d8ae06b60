"""The command `pocketmt` as `python -m pocketmt`, for launchers of modules such as torchrun."""

from pocketmt.cli.process import main

if __name__ == "__main__":
    main()
