package console

import (
	"time"

	"adshard/internal/node/httpapi/api"
)

// Record records a moment as if it had been observed.
func (h *History) Record(now time.Time, list *api.SliceList) { h.record(now, list) }
