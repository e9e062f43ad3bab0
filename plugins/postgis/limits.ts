/** PostgreSQL's limit is 1600 columns; the key and the geometry take two. */
export const maxFields = 1598;
