"""Networks of Marian: names of tensors and settings, which bergamot's files have, too."""
