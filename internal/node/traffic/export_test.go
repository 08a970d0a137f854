package traffic

// Len returns how many moments are kept.
func (w *Window) Len() int { return len(w.list) }
