package cluster

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/money"
	"adshard/internal/node/httpapi/api"
)

// pageBody is a request with placements as the body of a POST, from the parameters that a GET would have.
func pageBody(p url.Values, placements []string) (map[string]any, error) {
	body := map[string]any{}
	for name, values := range p {
		field := new(api.SearchParams).BodyName(name)
		switch name {
		case "slots", "timeout_ms", "per_advertiser":
			body[field] = json.Number(values[0])
		case "strict", "block_uncategorised", "why_empty":
			body[field] = values[0] == "true"
		case "location", "interest_location", "block_advertiser":
			numbers := make([]json.RawMessage, len(values))
			for i, v := range values {
				numbers[i] = numberOrText(v)
			}
			body[field] = numbers
		case "language", "audience", "block", "block_domain", "block_category":
			body[field] = values
		case "point":
			lat, lon, _ := strings.Cut(values[0], ",")
			body[field] = map[string]json.RawMessage{"lat": numberOrText(lat), "lon": numberOrText(lon)}
		default:
			body[field] = values[0]
		}
	}
	list := make([]api.PlacementRequest, len(placements))
	for i, text := range placements {
		var err error
		if list[i], err = placementOf(text); err != nil {
			return nil, err
		}
	}
	body["placements"] = list
	return body, nil
}

// numberOrText is a number as JSON, and what is none as a string, which the server refuses with the reason.
func numberOrText(s string) json.RawMessage {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return json.RawMessage(strconv.Quote(s))
}

// placementID is the id of what placementOf reads.
func placementID(text string) string {
	id, _, _ := strings.Cut(text, ":")
	return id
}

// placementOf reads ID, ID:SLOTS or ID:SLOTS:RESERVE.
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
