package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"adshard/internal/node/httpapi/api"
)

// column is a column of a list of entities.
type column struct {
	Name string
	// Right says that its values are numbers.
	Right bool
	// Link sorts the list by this column, or the other way round if it is sorted by it. It is "" if the list cannot be
	// sorted by this column.
	Link string
	// Sorted is "ascending" or "descending" if the list is sorted by this column.
	Sorted string
}

// order is what a list is sorted by. The zero value sorts nothing.
type order struct {
	kind, by string
	down     bool
}

// orderOf reads an order: the kind of the list, the key of a column and, for descending values, "down", with points
// between. It is the zero value if the text is not an order.
func orderOf(text string) order {
	kind, by, _ := strings.Cut(text, ".")
	by, down := strings.CutSuffix(by, ".down")
	if sortKeys[by] == nil {
		return order{}
	}
	return order{kind, by, down}
}

func (o order) String() string {
	text := o.kind + "." + o.by
	if o.down {
		text += ".down"
	}
	return text
}

// sortKeys compare entities by a column.
var sortKeys = map[string]func(a, b *api.Item) int{
	"number":  func(a, b *api.Item) int { return cmp.Compare(a.ID, b.ID) },
	"name":    func(a, b *api.Item) int { return cmp.Compare(strings.ToLower(nameOf(a)), strings.ToLower(nameOf(b))) },
	"status":  func(a, b *api.Item) int { return cmp.Compare(statusRank(a), statusRank(b)) },
	"budget":  func(a, b *api.Item) int { return compareAmounts(a.DailyBudgetMicros, b.DailyBudgetMicros) },
	"spent":   func(a, b *api.Item) int { return compareAmounts(a.SpentMicros, b.SpentMicros) },
	"bid":     func(a, b *api.Item) int { return compareAmounts(a.MaxCpcMicros, b.MaxCpcMicros) },
	"quality": func(a, b *api.Item) int { return cmp.Compare(qualityOf(a), qualityOf(b)) },
}

// columnsOfKinds are the columns of each list, by key; a key without an entry in sortKeys cannot be sorted by.
var columnsOfKinds = map[string][]struct{ key, name string }{
	"advertisers": {{"name", "Name"}, {"status", "Status"}, {"zone", "Time zone"}, {"number", "Number"}},
	"campaigns": {
		{"name", "Name"}, {"status", "Status"}, {"budget", "Daily budget"}, {"spent", "Spent today"}, {"languages", "Languages"}, {"number", "Number"},
	},
	"groups":    {{"name", "Name"}, {"status", "Status"}, {"bid", "Bid"}, {"number", "Number"}},
	"keywords":  {{"name", "Text"}, {"status", "Status"}, {"bid", "Bid"}, {"quality", "Quality"}, {"number", "Number"}},
	"ads":       {{"name", "Ad"}, {"status", "Status"}, {"number", "Number"}},
	"negatives": {{"name", "Text"}, {"status", "Status"}, {"number", "Number"}},
}

// columns returns the columns of a list of one kind. Numbers are first sorted downwards, and all else upwards.
func (b *branch) columns(kind string) (list []column) {
	for _, of := range columnsOfKinds[kind] {
		c := column{Name: of.name, Right: !slices.Contains([]string{"name", "status", "zone", "languages"}, of.key)}
		if sortKeys[of.key] != nil {
			next := order{kind, of.key, c.Right && of.key != "number"}
			if b.order.kind == kind && b.order.by == of.key {
				c.Sorted = map[bool]string{false: "ascending", true: "descending"}[b.order.down]
				next.down = !b.order.down
			}
			q := url.Values{"sort": {next.String()}}
			if b.Find != "" {
				q.Set("find", b.Find)
			}
			c.Link = b.Path + "?" + q.Encode() + "#" + kind
		}
		list = append(list, c)
	}
	return list
}

// sort sorts entities, and returns at most shownItems of them.
func (o order) sort(list []api.Item) []api.Item {
	compare := sortKeys[o.by]
	slices.SortStableFunc(list, func(a, b api.Item) int {
		if o.down {
			return compare(&b, &a)
		}
		return compare(&a, &b)
	})
	return list[:min(len(list), shownItems)]
}

func nameOf(it *api.Item) string {
	if len(it.Headlines) > 0 {
		return it.Headlines[0]
	}
	return it.Name + it.Text
}

// statusRank puts first what is not served.
func statusRank(it *api.Item) int {
	switch {
	case it.Status != api.ItemStatusEnabled:
		return 0
	case len(it.PausedBy) > 0 || it.BudgetExhausted:
		return 1
	}
	return 2
}

// compareAmounts puts amounts that are not known or not set before all others.
func compareAmounts(a, b *uint64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// qualityOf returns the quality with which a keyword is served.
func qualityOf(it *api.Item) int {
	if it.Learned != nil {
		return int(it.Learned.Quality)
	}
	return it.QualityScore
}
