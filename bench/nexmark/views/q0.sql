-- Pass through.
create materialized view q0 as
select auction, bidder, price, date_time, extra from bid
