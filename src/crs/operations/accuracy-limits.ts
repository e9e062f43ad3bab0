/** Metres: the default limit of accuracy. Accuracies worse than `strictAccuracyLimit` are stated in the report. */
export const defaultAccuracyLimit = 100;

/** Metres: the limit with `--strict`. Without it, the report states operations that are less accurate. */
export const strictAccuracyLimit = 5;
