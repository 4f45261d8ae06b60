"""Speed of training, compared with Hugging Face's trainer."""
