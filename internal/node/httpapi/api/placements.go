package api

import (
	"encoding/json"

	"adshard/fault"
)

// SearchBody is what the body of a search may have: the parameters of a search, and the placements of a page (serving.md §15).
type SearchBody struct {
	*SearchParams
	// Placements are the placements as JSON objects, or nil if the request has none.
	Placements []string
	// PerAdvertiser is the number of places on the page that an advertiser may have.
	PerAdvertiser int
}

const (
	placementsField = "placements"
	// MaxPlacements is the largest number of placements on a page.
	MaxPlacements = 8
	// MaxPlaces is the largest number of places on a page, and of places for one advertiser.
	MaxPlaces = 20
	// perAdvertiser is the number of the parameter per_advertiser; no other parameter has it.
	perAdvertiser = 63
)

// NewSearchBody returns a body with the defaults.
func NewSearchBody() *SearchBody {
	return &SearchBody{SearchParams: NewSearchParams(), PerAdvertiser: 1}
}

// Set implements Params.
func (b *SearchBody) Set(name string, v Value) (int, error) {
	if name != "per_advertiser" {
		return b.SearchParams.Set(name, v)
	}
	var err error
	b.PerAdvertiser, err = v.Integer(name, 1, MaxPlaces)
	return perAdvertiser, err
}

// setPlacements reads the list of placements. Each is checked when it is filled.
func (b *SearchBody) setPlacements(d *json.Decoder, body []byte) error {
	if t, err := d.Token(); err != nil {
		return notJSON(err)
	} else if t != json.Delim('[') {
		return wrongPlacements()
	}
	for d.More() {
		v, err := value(d, body)
		if err != nil {
			return err
		}
		if err := b.AddPlacement(v); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return notJSON(err)
	}
	if len(b.Placements) == 0 {
		return wrongPlacements()
	}
	return nil
}

// AddPlacement adds a placement, whose fields are checked when it is filled. Errors: fault.Invalid if it is not an object, or if there
// are too many.
func (b *SearchBody) AddPlacement(v Value) error {
	if v.Kind != Object || len(b.Placements) == MaxPlacements {
		return wrongPlacements()
	}
	b.Placements = append(b.Placements, v.Raw)
	return nil
}

func wrongPlacements() error {
	return fault.Field(op, placementsField, "%s must be a list of 1 to %d objects", placementsField, MaxPlacements)
}

// PlacementParams are the fields of a placement.
type PlacementParams struct {
	ID                                                 string
	Slots                                              int
	ReserveMicros                                      int
	Block, BlockAdvertiser, BlockDomain, BlockCategory Values
	BlockUncategorised                                 bool
}

// maxReserve is the highest effective bid (serving.md §12). A higher reserve would make no difference.
const maxReserve = 100_000_000_000

// Set implements Params.
func (p *PlacementParams) Set(name string, v Value) (number int, err error) {
	switch name {
	case "id":
		p.ID, err = v.Text(name, 64)
		return 0, err
	case "slots":
		p.Slots, err = v.Integer(name, 1, MaxPlaces)
		return 1, err
	case "reserve_micros":
		p.ReserveMicros, err = v.Integer(name, 0, maxReserve)
		return 2, err
	case "block_uncategorised":
		p.BlockUncategorised, err = v.Boolean(name)
		return 3, err
	case "block":
		p.Block = append(p.Block, v)
	case "block_advertiser":
		p.BlockAdvertiser = append(p.BlockAdvertiser, v)
	case "block_domain":
		p.BlockDomain = append(p.BlockDomain, v)
	case "block_category":
		p.BlockCategory = append(p.BlockCategory, v)
	default:
		return 0, Unknown(name, "id", "slots", "reserve_micros", "block", "block_advertisers", "block_domains", "block_categories", "block_uncategorised")
	}
	return List, nil
}

// Required implements Params.
func (*PlacementParams) Required(given uint64) string {
	if given&1 == 0 {
		return "id"
	}
	return ""
}

// placementLists are the names of a placement's lists, each with the name under which Set takes its entries.
var placementLists = [][2]string{
	{"block", "block"}, {"block_advertisers", "block_advertiser"}, {"block_domains", "block_domain"}, {"block_categories", "block_category"},
}

func (*PlacementParams) list(field string) (string, bool) { return listOf(placementLists, field) }
func (*PlacementParams) single(param string) bool         { return singleOf(placementLists, param) }
