# So that fish does not read all manual pages at its first start.
