"""Quality (sacreBLEU), speed and memory of models; the records of measurements, and tables and figures of them."""
