package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"adshard/internal/node/httpapi/api"
)

// Data, as the document describes them.
type (
	Item        = api.Item
	ItemAnswer  = api.ItemAnswer
	ItemList    = api.ItemList
	DataChanges = api.DataChanges
	ChangeLine  = api.ChangeLine
)

// Owner is what holds an entity; at most one is set.
type Owner struct{ Advertiser, Campaign, Group uint64 }

func (o Owner) query() url.Values {
	q := url.Values{}
	for name, id := range map[string]uint64{"advertiser": o.Advertiser, "campaign": o.Campaign, "group": o.Group} {
		if id != 0 {
			q.Set(name, fmt.Sprint(id))
		}
	}
	return q
}

// data is a request to a balancer.
func (c *Client) data(method, path string, query url.Values, to any) *request {
	h := http.Header{}
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	return &request{method: method, path: path, query: query, header: h, to: to}
}

// Get returns an entity. kind is advertisers, campaigns, groups, keywords, negatives or ads; the owner is needed for
// the last three.
func (c *Client) Get(ctx context.Context, kind string, id uint64, of Owner) (*ItemAnswer, error) {
	var out ItemAnswer
	if err := c.do(ctx, c.balancers, c.data(http.MethodGet, fmt.Sprintf("/v1/%s/%d", kind, id), of.query(), &out)); err != nil {
		return nil, err
	}
	return &out, nil
}

// List iterates over the entities of a kind by ascending id, page by page; the owner is needed as for Get. It
// ends after the first error.
func (c *Client) List(ctx context.Context, kind string, of Owner) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		for q := of.query(); ; {
			var page ItemList
			if err := c.do(ctx, c.balancers, c.data(http.MethodGet, "/v1/"+kind, q, &page)); err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				if !yield(&page.Items[i], nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			q.Set("cursor", page.Next)
		}
	}
}

// Operation is one change of data.
type Operation struct {
	Op   string // create, update, remove
	Type string // advertiser, campaign, group, keyword, negative, ad
	ID   uint64 // of what is updated or removed
	// Owner is that of what is created, and of a keyword, negative or ad.
	Owner Owner
	// IfMatch, an ETag, is what the entity must still be; "": whatever it is.
	IfMatch string
	// Fields are those that are set, as in the document; nil restores a default.
	Fields map[string]any
}

// MarshalJSON gives the operation as the document describes it.
func (o Operation) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for name, v := range o.Fields {
		out[name] = v
	}
	out["op"], out["type"] = o.Op, o.Type
	for name, id := range map[string]uint64{"id": o.ID, "advertiser_id": o.Owner.Advertiser, "campaign_id": o.Owner.Campaign, "group_id": o.Owner.Group} {
		if id != 0 {
			out[name] = id
		}
	}
	if o.IfMatch != "" {
		out["if_match"] = o.IfMatch
	}
	return json.Marshal(out)
}

// Change is 1 to 1,000 operations, all of which are made, or none.
type Change struct {
	Operations []Operation
	// Key names the request, so that it is made once if it is sent again in 24 hours; "": the client gives it
	// one for the time of the call.
	Key string
	// WaitServed waits for all live slaves, up to 8 s; 0: not. DataChanges.Served says whether they
	// serve it.
	WaitServed time.Duration
}

// Change makes changes in one transaction.
func (c *Client) Change(ctx context.Context, v Change) (*DataChanges, error) {
	var out DataChanges
	r := c.data(http.MethodPost, "/v1/batch", url.Values{}, &out)
	r.body = map[string]any{"operations": v.Operations}
	if v.Key == "" {
		v.Key = rand.Text()
	}
	r.header.Set("Idempotency-Key", v.Key)
	if v.WaitServed > 0 {
		r.query.Set("wait", "served")
		r.query.Set("wait_ms", fmt.Sprint(max(v.WaitServed.Milliseconds(), 1)))
	}
	if err := c.do(ctx, c.balancers, r); err != nil {
		return nil, err
	}
	return &out, nil
}

// changesWait is how long one stream of changes stays open.
const changesWait = 20 * time.Second

// Follow iterates over the changes after a position, "" being the beginning of the log, until ctx is done or the
// caller stops. It goes on by itself when a stream ends. An Error with the code stale says that the position
// is too old: read everything again; conflict, that it is of another database or history. It ends after the first error.
func (c *Client) Follow(ctx context.Context, after string) iter.Seq2[*ChangeLine, error] {
	return func(yield func(*ChangeLine, error) bool) {
		for ctx.Err() == nil {
			q := url.Values{"after": {after}, "wait_ms": {fmt.Sprint(changesWait.Milliseconds())}}
			res, err := c.open(ctx, c.balancers, c.data(http.MethodGet, "/v1/changes", q, nil))
			if err != nil {
				yield(nil, err)
				return
			}
			goOn := follow(res.Body, &after, yield)
			res.Body.Close()
			if !goOn {
				return
			}
		}
		yield(nil, ctx.Err())
	}
}

// follow reads the lines of one stream; false: the caller has stopped. A stream that is cut off is
// opened again after the last whole line.
func follow(from io.Reader, after *string, yield func(*ChangeLine, error) bool) bool {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var line ChangeLine
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			return true // cut off in the middle
		}
		if *after = line.Position; !yield(&line, nil) {
			return false
		}
	}
	return true
}

// Export returns all data, or those of one advertiser, as JSON lines, which `adshard import` reads. The reader is to be
// closed; reading it ends with io.EOF when all is there, else with another error.
func (c *Client) Export(ctx context.Context, advertiser uint64) (io.ReadCloser, error) {
	res, err := c.open(ctx, c.balancers, c.data(http.MethodGet, "/v1/export", Owner{Advertiser: advertiser}.query(), nil))
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
