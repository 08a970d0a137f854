package migration_test

import (
	"reflect"
	"testing"
	"testing/fstest"

	"adshard/backend/migration"
)

func TestAfter(t *testing.T) {
	files := fstest.MapFS{
		"steps/00009_b.sql": {Data: []byte("nine")}, "steps/00010_c.sql": {Data: []byte("ten")}, "steps/100000_d.sql": {Data: []byte("many")},
		"steps/00008_a.sql": {Data: []byte("eight")}, "steps/README.md": {}, "other/00011_e.sql": {},
	}
	for after, want := range map[int64][]migration.Step{
		0: {{8, "eight"}, {9, "nine"}, {10, "ten"}, {100000, "many"}}, 9: {{10, "ten"}, {100000, "many"}}, 100000: nil,
	} {
		if got, err := migration.After(files, "steps", after); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("after %d: %v, %v", after, got, err)
		}
	}
	files["steps/next.sql"] = &fstest.MapFile{}
	if _, err := migration.After(files, "steps", 0); err == nil {
		t.Error("a file without a version is taken")
	}
}
