"""One module per provider wire: requests out, bytes in, canonical parts."""
