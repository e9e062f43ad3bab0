/** How a record template treats an action. */
export const Replay = {
  /** Repeats it: it depends on the open tags and its text alone. */
  repeat: 0,
  /** Cannot contain it: the feature is read tag by tag. */
  never: 1,
  /** Leaves it out: it has no effect, or a later action includes its effect. */
  omit: 2,
} as const;
