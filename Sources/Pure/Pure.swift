// Nothing here: this target exists so that `make purity` can build every pure target at once.
