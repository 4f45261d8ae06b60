"""What a recipe says: its schema, its matrices, and its plan on one network."""
