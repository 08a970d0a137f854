package barrels

func init() { maintain() }
