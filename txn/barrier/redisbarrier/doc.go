// Package redisbarrier is package barrier for participants whose data is in Redis.
package redisbarrier
