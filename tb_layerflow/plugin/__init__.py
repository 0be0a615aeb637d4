"""The log over HTTP, inside TensorBoard. Knows the reader; knows neither TensorFlow nor how the page looks."""
