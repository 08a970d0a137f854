package config

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// environment is the prefix of the environment variables that set flags.
const environment = "ADSHARD_"

// Variable returns the environment variable that sets a flag: ADSHARD_TLS_CERT for tls-cert.
func Variable(flag string) string {
	return environment + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// WithoutVariables returns an environment without the variables that set flags. It is for a child
// process, whose configuration file has all settings, including those that differ between children.
func WithoutVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, environment) })
}

// Starter is what started a process, and starts it again.
type Starter string

// The starters.
const (
	Up      Starter = "up"      // `adshard up`
	Systemd Starter = "systemd" // a unit of systemd
	Hand    Starter = "hand"    // something else
)

// starterVariable tells a child of `adshard up` what started it.
const starterVariable = "STARTED_BY_UP"

// StartedByUp returns the environment of a child of `adshard up`, without the variables that set flags.
func StartedByUp(env []string) []string { return append(WithoutVariables(env), starterVariable+"=1") }

// StartedBy returns what started this process.
func StartedBy() Starter {
	switch {
	case os.Getenv(starterVariable) != "":
		return Up
	case os.Getenv("SYSTEMD_EXEC_PID") == strconv.Itoa(os.Getpid()): // systemd.exec(5); a shell of a desktop inherits the variables
		return Systemd
	}
	return Hand
}
