"""The language model of Prato et al. 2020, Table 6: its network, and the program that trains and quantizes it."""
