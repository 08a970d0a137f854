// Package balancer is the command line of the balancer.
package balancer
