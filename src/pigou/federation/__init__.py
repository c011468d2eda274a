"""A federation: a parameter server, clients that train and add noise, and what they are billed."""
