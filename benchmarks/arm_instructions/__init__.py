"""Instructions that AArch64 executes for products and translations, counted under emulation."""
