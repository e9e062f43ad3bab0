/** Meters: the worst accuracy that is used where none is asked for. What is worse than a street's width moves no border unseen: it is stated. */
export const defaultAccuracyLimit = 100;

/** Meters: the same where every loss is a failure (`--strict`). An operation that is worse is stated in the report. */
export const strictAccuracyLimit = 5;
