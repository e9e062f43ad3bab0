/** SQLite takes up to 2000 columns; two are the key and the geometry. */
export const maxFields = 1998;
