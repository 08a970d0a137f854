package cluster

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/money"
	"adshard/internal/node/httpapi/api"
)

// placementID returns the id in a text that placementOf parses.
func placementID(text string) string {
	id, _, _ := strings.Cut(text, ":")
	return id
}

// placementOf parses ID, ID:SLOTS or ID:SLOTS:RESERVE.
func placementOf(text string) (p api.PlacementRequest, err error) {
	parts := strings.Split(text, ":")
	wrong := cmdline.WrongUse("--placement is ID, ID:SLOTS or ID:SLOTS:RESERVE, such as top:3:0.05, not %s", terminal.Printable(text))
	if p.ID = placementID(text); p.ID == "" || len(parts) > 3 {
		return p, wrong
	}
	if len(parts) > 1 {
		if p.Slots, err = strconv.Atoi(parts[1]); err != nil || p.Slots < 1 {
			return p, wrong
		}
	}
	if len(parts) > 2 {
		micros, ok := money.Parse(parts[2])
		if !ok || micros > math.MaxInt64 {
			return p, wrong
		}
		p.ReserveMicros = int64(micros)
	}
	return p, nil
}

// showPlacements shows the placements of a page, one after the other.
func showPlacements(s cmdline.Streams, a *api.SearchAnswer) error {
	for i := range a.Placements {
		p := &a.Placements[i]
		if p.Error != nil {
			fmt.Fprintf(s.Out, "%s: not filled: %s\n", terminal.Printable(p.ID), terminal.Printable(p.Error.Message))
			continue
		}
		fmt.Fprintf(s.Out, "%s: %d take part\n", terminal.Printable(p.ID), p.Candidates)
		if err := showTable(s, p.Ads, p.Why); err != nil {
			return err
		}
	}
	return nil
}
