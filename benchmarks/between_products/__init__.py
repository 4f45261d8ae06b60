"""The functions between products as shares of their floors (`python -m benchmarks.between_products`)."""
