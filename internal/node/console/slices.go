package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"adshard/internal/node/httpapi/api"
)

// listed is the number of slices in the table.
const listed = 50

// sliceList has the ring and the slices with the highest load.
type sliceList struct {
	List   *api.SliceList
	Ring   []arc
	Legend []entry
	Slave  string // lists only this shard's slices; "" means all
	Listed int
	// All says whether the ring has all slices; if there are very many, some are left out.
	All bool
	// Past says that there is a history to show, and Times label it.
	Past  bool
	Times []string
}

// entry is an entry of the legend: a shard that has slices, and its colour.
type entry struct {
	Shard  string
	Colour int
}

// arc is a slice drawn on the ring: where it begins, its width, its heat from 0 (cold) to 9, and
// the colour of its shard.
type arc struct {
	api.SliceInfo
	X, Width     float64
	Heat, Colour int
}

const (
	ringWidth = 1000.0
	maxArcs   = 5000
	colours   = 8
)

func (c *Console) slices(w http.ResponseWriter, r *http.Request) {
	l, err := c.lookAtSlices(r)
	if err != nil {
		c.refusedBy(w, r, err)
		return
	}
	c.show(w, r, http.StatusOK, "slices", page{Title: "Slices", Refresh: rarely, Content: l})
}

func (c *Console) lookAtSlices(r *http.Request) (*sliceList, error) {
	most := func(limit int, slave string) (*api.SliceList, error) {
		q := url.Values{"limit": {strconv.Itoa(limit)}}
		if slave != "" {
			q.Set("slave", slave)
		}
		out := new(api.SliceList)
		return out, ask(c.cfg.API, r, http.MethodGet, "/v1/balance/slices", q, nil, out)
	}
	all, err := most(maxArcs, "")
	if err != nil {
		return nil, err
	}
	l := &sliceList{List: all, Slave: r.URL.Query().Get("slave"), All: all.Total <= maxArcs,
		Past: len(c.cfg.Memory.History.moments()) > 0, Times: timesOf(time.Now(), columns*every)}
	names := shardsOf(all.Slices)
	colours := c.cfg.Memory.History.colours(names)
	for _, name := range names {
		l.Legend = append(l.Legend, entry{name, colours[name]})
	}
	l.Ring = ring(all.Slices, colours)
	if l.Slave != "" {
		if l.List, err = most(listed, l.Slave); err != nil {
			return nil, err
		}
	}
	l.Listed = min(listed, len(l.List.Slices))
	l.List.Slices = l.List.Slices[:l.Listed]
	return l, nil
}

// slice shows why a slice is where it is.
func (c *Console) slice(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("slice"), 10, 64)
	if err != nil {
		c.fail(w, r, http.StatusBadRequest, fmt.Sprintf("%q is not the number of a slice.", r.PathValue("slice")))
		return
	}
	c.showSlice(w, r, id, http.StatusOK, "")
}

// showSlice shows the page of a slice. `trouble` says why a form was refused, or is "".
func (c *Console) showSlice(w http.ResponseWriter, r *http.Request, id uint64, status int, trouble string) {
	story, err := get[api.SliceStory](c, r, fmt.Sprint("/v1/balance/why/", id))
	if err != nil {
		c.refusedBy(w, r, err)
		return
	}
	c.show(w, r, status, "slice", page{Title: fmt.Sprint("Slice ", id), Refresh: rarely, Content: story, Trouble: trouble, Done: done(r)})
}
