"""Second-order methods: proximal Newton steps on quadratic models, and what is built on them."""
