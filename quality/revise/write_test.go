package revise_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/quality"
)

// counting counts the transactions that are begun.
type counting struct {
	backend.Store
	begun int
}

func (c *counting) Begin(ctx context.Context) (backend.Tx, error) {
	c.begun++
	return c.Store.Begin(ctx)
}

// TestManyAreGone: however many keywords were removed since the plan was made, the others are written
// with one more transaction.
func TestManyAreGone(t *testing.T) {
	const many = 100
	db := database(t)
	var made, removed strings.Builder
	for n := range many {
		line := fmt.Sprintf(`{"type":"keyword","advertiser":"A","campaign":"C","group":"G0","text":"more%d","match_type":"exact"`, n)
		fmt.Fprintln(&made, line+"}")
		fmt.Fprintln(&removed, line+`,"status":"removed"}`)
	}
	load(t, db, made.String())
	p := planned(t, db, counted(t, db))
	load(t, db, removed.String())
	c := &counting{Store: db}
	r, err := p.Write(t.Context(), c, nil)
	if err != nil || r.Gone != many || r.Written != 4 || c.begun != 2 {
		t.Errorf("%+v in %d transactions, %v", r, c.begun, err)
	}
	it := items(t, db)["G0"]
	if len(it.Keywords) != 4 {
		t.Errorf("%d keywords", len(it.Keywords))
	}
	if quality.Level(it.Keywords[3].Learned.Level()) != quality.LevelGroup {
		t.Error("what is left was not learned")
	}
}
