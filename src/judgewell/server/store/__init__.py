"""The database: schema, transactions, migrations, set-up and backup."""
