"""The words of the open classes, with what their inflection needs and what they go with."""
