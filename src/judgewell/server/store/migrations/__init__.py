"""How the database came to be as it is, step by step; run by `judgewell.server.store.transactions.migrate`."""
