/** The bytes of the two decimal signs. */
export const commaByte = 44;
export const pointByte = 46;
