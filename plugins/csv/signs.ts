/** The bytes of the two decimal signs. */
export const comma = 44;
export const point = 46;
