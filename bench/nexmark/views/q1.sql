-- Prices in another currency.
create materialized view q1 as
select auction, bidder, 0.908 * price as price, date_time, extra from bid
