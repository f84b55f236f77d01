const classes = new WeakSet<object>();

/** For queries of another API, whose clients send more than the gateway reads. Elsewhere an unknown field is refused. */
export function IgnoresUnknownFields(): ClassDecorator {
  return (target) => {
    classes.add(target);
  };
}

export function ignoresUnknownFields(type: object | undefined): boolean {
  return type !== undefined && classes.has(type);
}
