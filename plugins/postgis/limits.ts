/** PostgreSQL takes up to 1600 columns; two are the key and the geometry. */
export const maxFields = 1598;
