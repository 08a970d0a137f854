package database

import "testing"

func TestShown(t *testing.T) {
	for value, want := range map[string]string{
		"sqlite:/a b/ads.db": "sqlite:/a b/ads.db",
		"127.0.0.1:80":       "127.0.0.1:80",
		"postgres://u:secret@h:5433/ads?sslmode=disable&password=secret": "postgres://u@h:5433/ads",
		"postgresql://h/ads?password=secret":                             "postgresql://h/ads",
		"postgres://u:sec ret@h:x/ads":                                   "a URL that cannot be read",
	} {
		if got := Shown(value); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}
