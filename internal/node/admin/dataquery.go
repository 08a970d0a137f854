package admin

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"adshard/blocklist"
	"adshard/fault"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi/api"
)

// Bounds and defaults of the parameters of the calls for data, as in openapi.yaml.
const (
	defaultPage    = 100
	maxPage        = 1000
	maxEntries     = 10_000 // entries of a block list on one page
	maxCursor      = 64
	defaultChanges = 1000
	maxChanges     = 10_000
	maxChangesWait = 30_000
	defaultWait    = 5000
	maxWait        = 8000
	maxPosition    = 33
	maxKey         = 64
)

// dataQuery holds the parameters of a call for data.
type dataQuery struct {
	allowed []string
	changes bool // the call reads the log of changes, which has bounds of its own
	entries bool // the call reads the entries of a block list

	advertiser, campaign, group uint64
	cursor, after               string
	afterGiven, wait            bool
	advertiserName, file        string
	dryRun                      bool
	limit, waitMs               int
}

// Set implements api.Params.
func (q *dataQuery) Set(name string, v api.Value) (field int, err error) {
	if field = slices.Index(q.allowed, name); field < 0 {
		return 0, api.Unknown(name, q.allowed...)
	}
	mostLines, mostWait, leastWait := maxPage, maxWait, 1
	if q.changes {
		mostLines, mostWait, leastWait = maxChanges, maxChangesWait, 0
	}
	longest := maxCursor
	if q.entries {
		mostLines, longest = maxEntries, blocklist.MaxCursor
	}
	switch name {
	case "advertiser":
		err = setID(v, name, &q.advertiser)
	case "campaign":
		err = setID(v, name, &q.campaign)
	case "group":
		err = setID(v, name, &q.group)
	case "advertiser_name":
		q.advertiserName, err = v.Text(name, maxAccount)
	case "file":
		q.file, err = v.Text(name, maxFileName)
	case "dry_run":
		q.dryRun, err = v.Boolean(name)
	case "cursor":
		q.cursor, err = v.Text(name, longest)
	case "after":
		q.after, err = v.Text(name, maxPosition)
		q.afterGiven = true
	case "limit":
		q.limit, err = v.Integer(name, 1, mostLines)
	case "wait_ms":
		q.waitMs, err = v.Integer(name, leastWait, mostWait)
	case "wait":
		_, err = api.OneOf(v, name, "served")
		q.wait = true
	}
	return field, err
}

// Required implements api.Params.
func (*dataQuery) Required(uint64) string { return "" }

func setID(v api.Value, name string, to *uint64) error {
	n, err := v.Integer(name, 1, math.MaxInt)
	*to = uint64(n)
	return err
}

func (q *dataQuery) read(r *http.Request) error {
	if r.Method == http.MethodGet && r.ContentLength != 0 {
		return fault.Field("admin", "", "%s %s has no body", r.Method, r.URL.Path)
	}
	return api.FromQuery(q, r.URL.RawQuery)
}

// owned returns an error unless exactly one owner of a keyword, negative or ad is named.
func (q *dataQuery) owned(of collection) error {
	n := 0
	for _, id := range []uint64{q.advertiser, q.campaign, q.group} {
		if id != 0 {
			n++
		}
	}
	if len(of.items) > 0 && n != 1 {
		return fault.Field("admin", of.items[0], "name the %s that holds it", orOf(of.items))
	}
	return nil
}

func orOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last] + ", one of them,"
}

// key reads the key of one entity from the path and the query.
func (q *dataQuery) key(r *http.Request, of collection) (data.Key, error) {
	id, err := number(r, "id", of.of.String())
	if err == nil {
		err = q.read(r)
	}
	if err == nil {
		err = q.owned(of)
	}
	return data.Key{Type: of.of, ID: id, Advertiser: q.advertiser, Campaign: q.campaign, Group: q.group}, err
}

// header returns the only value of a header, or "" if there is none.
func header(r *http.Request, name string) (string, error) {
	switch values := r.Header.Values(name); len(values) {
	case 0:
		return "", nil
	case 1:
		if v := values[0]; v != "" && len(v) <= maxKey {
			return v, nil
		}
		return "", fault.Field("admin", name, "%s must have 1 to %d characters", name, maxKey)
	}
	return "", api.Repeated(name)
}

func idempotencyKey(r *http.Request) (string, error) {
	key, err := header(r, "Idempotency-Key")
	for _, c := range []byte(key) {
		if c <= ' ' || c > '~' {
			return "", fault.Field("admin", "Idempotency-Key", "Idempotency-Key must be printable ASCII without spaces")
		}
	}
	return key, err
}
