package database

import (
	"adshard/backend/postgres"
	"adshard/internal/node/config"
)

// CheckVerified checks that the database at url, if it is on another machine, shows a certificate that is checked, or
// that db_insecure is written down: a server that answers in its place would own the cluster. key is that of the
// configuration.
func CheckVerified(k *config.Check, key, url string, insecure bool) {
	if insecure || !IsServer(url) {
		return
	}
	host := postgres.Unverified(url)
	k.That(host == "", key, "%s is on another machine, and its certificate is not checked: write sslmode=verify-full&sslrootcert=FILE into the URL, after its ?,"+
		" or db_insecure: true to go without", host)
}
