-- The last bid of each bidder for each auction.
create materialized view q18 as
select auction, bidder, price, channel, url, date_time, extra
from (select id, auction, bidder, price, channel, url, date_time, extra,
             row_number() over (partition by bidder, auction order by date_time desc, id desc) as place
      from bid) t
where place <= 1
