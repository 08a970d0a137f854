package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/backend/postgres"
	"adshard/fault"
)

// TestRoleOfABalancerThatChangesData: the roles serve and import together suffice, and can delete only receipts from
// the control state.
func TestRoleOfABalancerThatChangesData(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1_800_000_000, 0)
	p := newPlace(t).(place)
	owner := open(t, p)
	add(t, owner, "C", "G", "a")
	do(t, p.name, postgres.Roles)
	do(t, p.name, "DROP ROLE IF EXISTS test_data; CREATE ROLE test_data LOGIN; GRANT adshard_serve, adshard_import TO test_data")
	must(t, owner.SaveControl(ctx, "balancer/order", []byte("order")))
	url := strings.Replace(shared.URL(p.name), "user=postgres", "user=test_data", 1)
	s, err := postgres.Open(ctx, url, postgres.Options{})
	must(t, err)
	defer s.Close()
	for day := range 3 {
		tx, err := s.Begin(ctx)
		must(t, err)
		must(t, tx.Lock(ctx, backend.KindGroup, 1))
		must(t, tx.Keyword(ctx, 1, backend.KeywordPatch{Text: "b", Words: "b", Status: []backend.Status{backend.Enable, backend.Pause, backend.Remove}[day]}))
		must(t, tx.Receipt(ctx, "k", []byte("answer"), now.Add(time.Duration(day)*backend.ReceiptAge)))
		must(t, tx.Commit(ctx))
	}
	if got, err := backend.FindReceipt(ctx, s, "k", now); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	c, err := pgx.Connect(ctx, url)
	must(t, err)
	defer c.Close(context.Background())
	_, err = c.Exec(ctx, "DELETE FROM adshard.control")
	must(t, err)
	if order, err := s.LoadControl(ctx, "balancer/order"); err != nil || string(order) != "order" {
		t.Errorf("the control state is deleted: %q, %v", order, err)
	}
	do(t, p.name, "REVOKE adshard_import FROM test_data")
	if _, err := s.Begin(ctx); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "db roles") {
		t.Errorf("without the role import: %v", err)
	}
}
