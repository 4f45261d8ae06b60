"""Speed of decoding on a GPU, compared with CTranslate2 with the same weights on the same GPU."""
