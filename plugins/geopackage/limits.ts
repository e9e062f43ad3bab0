/** SQLITE_MAX_COLUMN is 2000; the key and the geometry take two. */
export const maxFields = 1998;
